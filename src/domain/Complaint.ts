/** Whole escape sequences of a terminal: colours and movements (CSI), titles and links (OSC), character sets. */
const escapes =
  /(?:\u001b\[|\u009b)[0-?]*[ -/]*[@-~]|(?:\u001b\]|\u009d)[^\n\u0007\u001b\u009c]*(?:\u0007|\u001b\\|\u009c)?|\u001b[ -/]*[0-~]/g

/** A program's first line as part of a sentence: bounded, without what steers a terminal, and without a full stop. */
export const complaint = (stderr: string): string =>
  (stderr.split("\n")[0] ?? "").replaceAll(escapes, "").replaceAll(/[\u0000-\u001f\u007f-\u009f]/g, "").slice(0, 160)
    .replace(/\.+$/, "")
