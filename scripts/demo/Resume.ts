import * as Effect from "effect/Effect"
import { words } from "./Agents.ts"
import { from, placeOf, type Stage, type Team, titled } from "./Story.ts"
import { ensure, type StepFailed } from "./Timeline.ts"

/** The coordinator opens Ben's saved session again. Answers the team with Ben as it is now. */
const opened = (stage: Stage, team: Team) =>
  stage.timeline.step(
    "Ben comes back",
    team.coordinator,
    Effect.gen(function*() {
      const { evidence, harness, leftovers } = stage
      const { agent: old, pane: oldPane } = team.ben
      const leader = team.coordinator.sessionId
      const [asked, conversation] = [evidence.asked(old.sessionId), yield* evidence.conversation(old.sessionId)]
      const later = evidence.later()
      yield* team.coordinator.type(words.resumeBen)
      yield* evidence.result(leader, "\"submitted\": true", later)

      const status = yield* evidence.given(leader, [from("status", old)], later)
      const agent = yield* evidence.agent(old.name)
      yield* ensure(
        status.lastUser.includes(`${from("status", old)}\nport: ${agent.port}\nbusy: no`),
        "Ben's status names another port than the team file, or says that he is busy"
      )
      yield* ensure(
        JSON.stringify({ ...agent, port: old.port }) === JSON.stringify(old),
        "Ben's entry in the team file is not what it was"
      )
      yield* evidence.endpoint(old.sessionId, agent.port)
      leftovers.port(agent.port)
      const rows = yield* evidence.panes("one new tab called Ben", (all) =>
        all.filter((row) => !row.dead).length === 4 && titled(all, agent.name).length === 1)
      const [row] = titled(rows, agent.name)
      if (row === undefined || row.pane === oldPane.pane) {
        return yield* Effect.dieMessage("a tab that was gone is back")
      }

      yield* ensure(evidence.asked(old.sessionId) === asked, "Ben's model was asked")
      yield* ensure(
        conversation !== undefined && (yield* evidence.conversation(old.sessionId)) === conversation,
        "Ben's saved conversation is not what it was, or there are two"
      )
      yield* ensure((yield* evidence.openResumes) === 0, "the resume is not recorded as ended")
      return { ...team, ben: { agent, pane: harness.pane(row.pane) } }
    }),
    ({ ben }) =>
      `Told so, the coordinator resumed Ben: ${
        placeOf(stage.harness)
      } has a new tab, and his status came from port ${ben.agent.port}.\n` +
      "            It is the same session with the same name and responsibility. Nothing was assigned, and his model\n" +
      "            was not asked."
  )

/** Ben is sent a message: the first thing that his model is given since he came back. */
const reached = ({ evidence, timeline }: Stage, { ben: { agent, pane }, coordinator }: Team) =>
  timeline.step(
    "Ben is sent a message",
    pane,
    Effect.gen(function*() {
      const asked = evidence.asked(agent.sessionId)
      const later = evidence.later()
      yield* coordinator.type(words.askBen)
      const request = yield* evidence.given(
        agent.sessionId,
        [`${from("message", { name: "Coordinator", sessionId: coordinator.sessionId })}\n${words.lateQuestion}`],
        later
      )
      yield* ensure(evidence.asked(agent.sessionId) === asked + 1, "Ben's model was asked something else before")
      yield* ensure(
        request.system.includes(
          `You are ${agent.name} (session ${agent.sessionId}). Responsibility: ${agent.description}`
        ),
        "Ben's model does not know who it is"
      )
      yield* ensure(
        request.messages.some(({ text }) => text.includes(words.answer)),
        "Ben's model does not remember what Ada answered"
      )
      yield* ensure(
        request.messages.some(({ args }) => args.some((one) => one.includes(words.handoff))),
        "Ben's model does not know its handoff"
      )
      yield* evidence.result(coordinator.sessionId, "\"accepted\": true", later)
    }),
    () =>
      "A message to Ben was delivered: his model was given it, and knows his name, his responsibility, his handoff and\n" +
      "            Ada's answer from before."
  )

/** The parked worker comes back as itself. Answers the team as it is then. */
export const resume = (stage: Stage, team: Team): Effect.Effect<Team, StepFailed> =>
  Effect.tap(opened(stage, team), (now) => reached(stage, now))
