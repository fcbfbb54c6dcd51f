/** Everything that a page can try against a port of this machine, and what it can see of the answers. */

/** What one attempt showed the page: text it could read, or how it failed. */
export interface Finding {
  readonly attempt: string
  readonly seen: string
}

// Runs in the browser: `targets` are origins of the port under attack, `body` is a message that its session would take.
const script = `
const findings = []
const patience = (promise, ms) => Promise.race([promise, new Promise((done) => setTimeout(() => done("nothing happened"), ms))])
const attempt = async (name, run) => {
  let seen
  try { seen = await patience(run(), 3000) } catch (error) { seen = "refused: " + error }
  findings.push({ attempt: name, seen: String(seen) })
}
const read = async (response) => response.type + " " + response.status + " " + await response.text()
const element = (tag, attributes) => new Promise((done) => {
  const one = Object.assign(document.createElement(tag), attributes)
  one.onload = () => {
    let inside = ""
    try { inside = one.contentDocument ? one.contentDocument.documentElement.textContent : "" } catch {}
    done("loaded " + inside)
  }
  one.onerror = () => done("error")
  document.body.append(one)
})
const posts = (target) => ({
  "POST cors json": () => fetch(target + "/intercom", { method: "POST", headers: { "content-type": "application/json" }, body }).then(read),
  "POST cors text": () => fetch(target + "/intercom", { method: "POST", body }).then(read),
  "POST cors with credentials": () => fetch(target + "/intercom", { method: "POST", credentials: "include", body }).then(read),
  "POST no-cors text": () => fetch(target + "/intercom", { method: "POST", mode: "no-cors", body }).then(read),
  "POST no-cors json": () => fetch(target + "/intercom", { method: "POST", mode: "no-cors", headers: { "content-type": "application/json" }, body }).then(read),
  "POST no-cors blob": () => fetch(target + "/intercom", { method: "POST", mode: "no-cors", body: new Blob([body], { type: "application/json" }) }).then(read),
  "POST no-cors keepalive": () => fetch(target + "/intercom", { method: "POST", mode: "no-cors", keepalive: true, body }).then(read),
  "POST no-referrer": () => fetch(target + "/intercom", { method: "POST", mode: "no-cors", referrerPolicy: "no-referrer", body }).then(read),
  "beacon text": async () => navigator.sendBeacon(target + "/intercom", body),
  "beacon json": async () => navigator.sendBeacon(target + "/intercom", new Blob([body], { type: "application/json" })),
  "XHR": () => new Promise((done) => {
    const one = new XMLHttpRequest()
    one.onloadend = () => done(one.status + " " + one.responseText)
    one.open("POST", target + "/intercom")
    one.setRequestHeader("content-type", "text/plain")
    one.send(body)
  }),
  "form text/plain": () => new Promise((done) => {
    const frame = Object.assign(document.createElement("iframe"), { name: "f" + Math.random() })
    document.body.append(frame)
    const form = Object.assign(document.createElement("form"), { action: target + "/intercom", method: "POST", enctype: "text/plain", target: frame.name })
    const field = Object.assign(document.createElement("input"), { name: body.slice(0, -1) + ',"x":"', value: '"}' })
    form.append(field)
    document.body.append(form)
    frame.onload = () => {
      let inside = ""
      try { inside = frame.contentDocument.documentElement.textContent } catch {}
      done("loaded " + inside)
    }
    form.submit()
  }),
  "form from an opaque origin": () => element("iframe", {
    sandbox: "allow-scripts allow-forms",
    srcdoc: "<script>fetch(" + JSON.stringify(target + "/intercom") + ", { method: 'POST', mode: 'no-cors', body: " + JSON.stringify(body).replaceAll("<", "\\\\u003c") + " })<\\/script>"
  })
})
const gets = (target) => ({
  "GET cors": () => fetch(target + "/intercom/health").then(read),
  "GET no-cors": () => fetch(target + "/intercom/health", { mode: "no-cors" }).then(read),
  "image": () => element("img", { src: target + "/intercom/health" }),
  "script": () => element("script", { src: target + "/intercom/health" }),
  "stylesheet": () => element("link", { rel: "stylesheet", href: target + "/intercom/health" }),
  "frame": () => element("iframe", { src: target + "/intercom/health" }),
  "module": () => import(target + "/intercom/health").then(() => "imported"),
  "EventSource": () => new Promise((done) => {
    const one = new EventSource(target + "/intercom/health")
    one.onmessage = (event) => done(event.data)
    one.onerror = () => { one.close(); done("error") }
  }),
  "WebSocket": () => new Promise((done) => {
    const one = new WebSocket(target.replace("http", "ws") + "/intercom/health")
    one.onopen = () => done("open")
    one.onerror = () => done("error")
  })
})
const main = async () => {
  for (const target of targets) {
    for (const [name, run] of Object.entries({ ...posts(target), ...gets(target) })) await attempt(target + " " + name, run)
  }
  for (const [name, run] of Object.entries(posts(naive))) await attempt("naive " + name, run)
  await attempt("own origin", () => fetch("/own").then(read))
  await fetch("/findings", { method: "POST", body: JSON.stringify(findings) })
}
main()
`

/** The page, for these targets. */
export const page = (targets: ReadonlyArray<string>, naive: string, body: string): string =>
  `<!doctype html><title>a page</title><body><script>
const targets = ${JSON.stringify(targets)}, naive = ${JSON.stringify(naive)}, body = ${JSON.stringify(body)}
${script}</script>`
