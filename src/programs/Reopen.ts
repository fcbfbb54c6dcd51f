/** The command that opens a saved session, in the folder where it ran. */
export const openWith = (sessionId: string): string => `pi --session ${sessionId}`

/** When it cannot be opened, before what then puts another session in its place. */
export const goneForGood = "If it is gone for good, or Pi does not find it because it never had a turn, "

/** What the person can do when the coordinator's session does not answer: nothing takes its place by itself (spec 1.2). */
export const reopen = (sessionId: string): string =>
  `If the coordinator's session is closed, open it again with ${openWith(sessionId)} in the folder where it ran; ` +
  `its team goes on. ${goneForGood}run /intercom takeover here: this session then coordinates the team in its place.`
