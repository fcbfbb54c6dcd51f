/** A program's first line as part of a sentence: bounded, without control characters, and without a full stop. */
export const complaint = (stderr: string): string =>
  (stderr.split("\n")[0] ?? "").replaceAll(/[\u0000-\u001f\u007f-\u009f]/g, "").slice(0, 160).replace(/\.+$/, "")
