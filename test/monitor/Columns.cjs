const { readFileSync, renameSync, writeFileSync } = require("node:fs")

// In a terminal: writes each text of a list (a file of JSON) at the beginning of a cleared screen, asks the terminal
// where its cursor is then, and notes the answers, `[row, columns]` each, in another file.
const [, , from, to] = process.argv
const texts = JSON.parse(readFileSync(from, "utf8"))
const answers = []
const atOnce = 1000
let asked = 0
let heard = ""

const ask = () => {
  const next = texts.slice(asked, asked + atOnce)
  asked += next.length
  process.stdout.write(next.map((text) => `\u001b[H\u001b[2J${text}\u001b[6n`).join(""))
}

process.stdin.setRawMode(true).on("data", (data) => {
  heard += data
  heard = heard.replace(/\u001b\[(\d+);(\d+)R/g, (_, row, column) => {
    answers.push([Number(row), Number(column) - 1])
    return ""
  })
  if (answers.length === texts.length) {
    // Whoever waits for the file finds it whole.
    writeFileSync(`${to}.part`, JSON.stringify(answers))
    renameSync(`${to}.part`, to)
    process.exit(0)
  }
  if (answers.length === asked) ask()
})
ask()
