import type { Probe } from "../src/domain/Probe.ts"
import type { Snapshot } from "../src/domain/Snapshot.ts"
import type { Endpoint } from "../src/services/IntercomClient.ts"
import { receiver, sender, type Sent } from "./Sending.ts"

/** What was learned at a moment, in ms since the epoch: what the files of a team say, or what an endpoint answered. */
type Learned<Files> =
  | { readonly _tag: "Read"; readonly snapshot: Files; readonly at: number }
  | { readonly _tag: "Answered"; readonly endpoint: Endpoint; readonly probe: Probe; readonly at: number }

/** {@link Learned}, as it is told and shown. */
export type News = Learned<Snapshot>
/** {@link Learned}, between the two processes of a monitor. */
export type Post = Learned<Sent>

/** Makes what posts news from one process to the other, and answers what posting does. */
export const posting = <A>(post: (post: Post) => A): (news: News) => A => {
  const send = sender()
  return (news) => post(news._tag === "Read" ? { ...news, snapshot: send(news.snapshot) } : news)
}

/** Makes what tells in the other the news that were posted, in the order in which they were. */
export const telling = (tell: (news: News) => void): (post: Post) => void => {
  const receive = receiver()
  return (post) => tell(post._tag === "Read" ? { ...post, snapshot: receive(post.snapshot) } : post)
}
