/** Everything that is there once there are files. */
export const style = `
.unseen { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
h2 { font-size: 1.05rem; }
.compact #drop { display: flex; flex-wrap: wrap; align-items: center; justify-content: center; gap: 0.4rem 1rem; padding: 0.7rem 1rem; }
.compact #drop > svg, .compact .hint, .compact .touch { display: none; }
.compact .invitation { font-size: 1rem; font-weight: 550; color: var(--soft); }
.compact .primary { color: var(--text); background: var(--card); border-color: var(--edge); }
.compact .ways button { min-height: 2.5rem; padding: 0.3rem 0.8rem; }
#refused, #offline { padding: 0.75rem 1rem; border-radius: calc(var(--radius) * 0.8); font-size: 0.95rem; overflow-wrap: anywhere; }
#refused { display: flex; align-items: start; gap: 0.5rem; color: var(--bad); background: color-mix(in srgb, var(--bad) 10%, var(--card)); }
#refused > div { flex: 1; align-self: center; }
#refused button { margin: -0.4rem; margin-inline-end: -0.7rem; color: inherit; }
#offline { position: sticky; bottom: 1rem; background: var(--tint); border: 1px solid var(--accent); }
#queue, #unfinished { background: var(--card); border: 1px solid var(--line); border-radius: var(--radius); overflow: hidden; }
#unfinished h2 { padding: 1rem 1.15rem 0; }
#unfinished > p { padding: 0 1.15rem 0.25rem; color: var(--soft); font-size: 0.92rem; }
.summary { display: grid; grid-template-columns: auto 1fr auto; gap: 0.4rem 1rem; align-items: baseline; padding: 1rem 1.15rem; }
.summary h2 { white-space: nowrap; }
.numbers { color: var(--soft); font-size: 0.92rem; font-variant-numeric: tabular-nums; text-align: end; grid-column: 2 / -1; }
.summary .bar { grid-column: 1 / -1; margin-bottom: 0.35rem; }
.summary .actions { display: flex; flex-wrap: wrap; gap: 0.5rem; grid-column: 1 / 3; }
.summary button { padding: 0.3rem 0.65rem; min-height: 2.25rem; font-size: 0.92rem; }
.summary #clear { grid-column: 3; }
#done { display: flex; align-items: center; gap: 0.6rem; padding: 1rem 1.15rem 0; color: var(--good); font-size: 1.15rem; font-weight: 650; }
#done svg { width: 1.9rem; padding: 0.3rem; border-radius: 50%; background: color-mix(in srgb, var(--good) 15%, var(--card)); stroke-width: 3; }
ul { list-style: none; }
li {
  display: grid; grid-template-columns: 2.75rem minmax(0, 1fr) auto; gap: 0.1rem 0.85rem; align-items: center;
  padding: 0.7rem 1.15rem; border-top: 1px solid var(--line);
}
.picture {
  width: 2.75rem; height: 2.75rem; border-radius: calc(var(--radius) * 0.5); overflow: hidden; display: grid; place-items: center; grid-row: span 2;
  align-self: start; background: color-mix(in srgb, var(--soft) 14%, var(--card)); color: var(--soft);
  font-size: 0.68rem; font-weight: 700; letter-spacing: 0.02em; text-transform: uppercase;
}
.picture canvas { width: 100%; height: 100%; object-fit: cover; }
.words { min-width: 0; }
.name { font-weight: 550; overflow-wrap: anywhere; }
.state { color: var(--soft); font-size: 0.9rem; font-variant-numeric: tabular-nums; overflow-wrap: anywhere; }
.error { color: var(--bad); font-size: 0.92rem; padding-top: 0.15rem; overflow-wrap: anywhere; }
li .actions { display: flex; align-items: center; gap: 0.15rem; margin-inline-end: -0.75rem; }
.share { min-width: 3.2em; text-align: end; color: var(--soft); font-size: 0.9rem; font-variant-numeric: tabular-nums; }
li .bar { grid-column: 2 / -1; margin-top: 0.35rem; }
button.icon {
  display: flex; align-items: center; justify-content: center; gap: 0.4rem; min-width: 2.75rem; padding: 0 0.6rem;
  border-color: transparent; background: none; color: var(--soft); font-size: 0.92rem;
}
button.icon:has(span:not(:empty)) { border-color: var(--edge); color: var(--text); min-height: 2.4rem; }
button.icon:hover { background: var(--tint); border-color: transparent; color: var(--accent); }
button.icon svg { width: 1.3rem; }
button.icon span:empty { display: none; }
.link { display: flex; flex-wrap: wrap; gap: 0.35rem 1rem; font-size: 0.92rem; }
.link a { color: var(--accent); }
.link button { padding: 0; min-height: 1.5rem; border: 0; background: none; color: var(--accent); text-decoration: underline; font-weight: inherit; }
.bar { position: relative; height: 0.4rem; border-radius: 1rem; background: var(--line); overflow: hidden; }
.bar i { position: absolute; inset: 0; background: var(--tone, var(--accent)); transform-origin: left; transform: scaleX(0); }
[dir="rtl"] .bar i { transform-origin: right; }
.bar .sent { opacity: 0.45; }
[data-state="uploading"] > .bar i { transition: transform 200ms linear; }
[data-state="paused"], [data-state="needs-file"] { --tone: light-dark(#a8720a, #d9a63f); }
[data-state="failed"] { --tone: var(--bad); }
[data-state="completed"] { --tone: var(--good); }
li[data-state="uploading"], li[data-state="finishing"], li[data-state="queued"], li[data-state="preparing"] { --tone: var(--accent); }
li:is([data-state="completed"], [data-state="cancelled"], [data-state="queued"], [data-state="preparing"]) .bar { visibility: hidden; }
li:is([data-state="completed"], [data-state="cancelled"]) .bar { display: none; }
li[data-state="completed"] .state { color: var(--good); }
li[data-state="paused"] .state { color: light-dark(#8a5a00, #f0c060); }
li[data-state="cancelled"] .name { color: var(--soft); text-decoration: line-through; }
summary { padding: 0.8rem 1.15rem; border-top: 1px solid var(--line); color: var(--good); font-weight: 550; cursor: pointer; }
summary:focus-visible { outline-offset: -3px; }
@container (max-width: 32rem) {
  li { column-gap: 0.7rem; padding-inline: 0.9rem; }
  .words { grid-column: 2 / -1; }
  li .actions { grid-column: 2 / -1; justify-content: end; margin-block: -0.2rem; }
  .share { margin-inline-end: auto; text-align: start; }
  /* what has ended has one button, and room for it beside the words */
  li[data-state="completed"] .words { grid-column: 2; }
  li[data-state="completed"] .actions { grid-area: 1 / 3; }
  .compact .invitation { display: none; }
  .compact .ways button { padding-inline: 0.6rem; font-size: 0.92rem; }
  li .bar { grid-column: 1 / -1; }
  .numbers { grid-column: 1 / -1; text-align: start; }
  .summary { padding-inline: 0.9rem; }
  .summary .actions { grid-column: 1 / -1; }
  .summary #clear { grid-column: 1 / -1; justify-self: start; }
  button { padding-inline: 0.75rem; }
}
@media (forced-colors: active) {
  .bar { border: 1px solid CanvasText; }
  .bar i { forced-color-adjust: none; background: Highlight !important; }
  li .actions { margin-inline-end: 0; }
}
`
