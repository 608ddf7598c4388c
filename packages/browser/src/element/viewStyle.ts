/** Everything that is there once there are files. */
export const style = `
h2 { font-size: 1.05rem; overflow: hidden; text-overflow: ellipsis; }
.compact #drop { display: flex; flex-wrap: wrap; align-items: center; justify-content: center; gap: 0.4rem 1rem; padding: 0.7rem 1rem; }
.compact #drop > svg, .compact .hint, .compact .touch { display: none; }
.compact .invitation { font-size: 1rem; font-weight: 550; color: var(--soft); }
.compact:has(.summary .primary) #choose-files { color: var(--text); background: var(--card); border-color: var(--edge); }
.compact .ways button { min-height: 2.5rem; padding: 0.3rem 0.8rem; }
#refused, #offline, #removed { padding: 0.75rem 1rem; border-radius: calc(var(--radius) * 0.8); font-size: 0.95rem; overflow-wrap: anywhere; }
#refused { display: flex; align-items: start; gap: 0.5rem; color: var(--bad); background: color-mix(in srgb, var(--bad) 10%, var(--card)); }
#refused > div { flex: 1; align-self: center; }
#refused button { margin: -0.4rem; margin-inline-end: -0.7rem; color: inherit; }
#offline, #removed { position: sticky; bottom: 1rem; background: var(--tint); border: 1px solid var(--accent); }
#queue, #unfinished { background: var(--card); border: 1px solid var(--line); border-radius: var(--radius); }
#unfinished h2 { padding: 1rem 1.15rem 0; }
#unfinished > p { padding: 0 1.15rem 0.7rem; color: var(--soft); font-size: 0.92rem; }
.summary { display: grid; grid-template-columns: auto 1fr auto; gap: 0.35rem 1rem; align-items: center; padding: 0.9rem 1.15rem 1rem; }
.summary > .actions { grid-column: 2 / -1; justify-self: end; position: relative; display: flex; gap: 0.5rem; min-height: 2.5rem; }
.summary button { padding: 0.3rem 0.75rem; min-height: 2.5rem; font-size: 0.92rem; }
#menu { display: flex; flex-wrap: wrap; justify-content: end; gap: 0.5rem; }
#menu:not(:has(button:not([hidden]))) { display: none; }
#menu button { border-color: transparent; background: none; }
#cancel-all { margin-inline-start: 1rem; color: var(--bad); }
#more { display: none; border-color: var(--edge); }
#more svg { stroke-width: 4; }
.summary > .progress { grid-column: 1 / -1; }
.summary .bar { height: 0.6rem; }
.numbers { grid-column: 1 / 3; color: var(--soft); font-size: 0.92rem; font-variant-numeric: tabular-nums; }
#done { display: flex; align-items: center; gap: 0.7rem; color: var(--good); font-size: 1.25rem; font-weight: 650; grid-column: 1 / 3; }
#done:not([hidden]) + .actions { grid-column: 3; grid-row: 1; }
#done svg { width: 2.5rem; padding: 0.45rem; border-radius: 50%; color: var(--card); background: var(--good); stroke-width: 3; animation: pop 300ms ease-out; flex: none; }
@keyframes pop { from { transform: scale(0.4); } 70% { transform: scale(1.1); } }
/* many files do not make a long page: the summary stays above them */
.files { max-height: max(20rem, 70vh); overflow-y: auto; border-end-start-radius: var(--radius); border-end-end-radius: var(--radius); }
ul { list-style: none; }
li { display: grid; grid-template-columns: 2.75rem minmax(0, 1fr) auto; gap: 0.1rem 0.85rem; align-items: center; padding: 0.7rem 1.15rem; border-top: 1px solid var(--line); content-visibility: auto; contain-intrinsic-block-size: auto 4.35rem; }
li:not(:has(.words)) { display: block; min-block-size: 3.4rem; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; color: var(--soft); }
.picture { width: 2.75rem; height: 2.75rem; border-radius: calc(var(--radius) * 0.5); overflow: hidden; display: grid; place-items: center; align-self: start; background: color-mix(in srgb, var(--soft) 14%, var(--card)); color: var(--soft); font-size: 0.68rem; font-weight: 700; letter-spacing: 0.02em; text-transform: uppercase; }
.hued { background: light-dark(hsl(var(--hue) 75% 93%), hsl(var(--hue) 35% 23%)); color: light-dark(hsl(var(--hue) 75% 29%), hsl(var(--hue) 80% 82%)); }
.picture svg { width: 55%; stroke-width: 1.5; }
.picture canvas { width: 100%; height: 100%; object-fit: cover; }
.words { min-width: 0; }
.name { font-weight: 550; white-space: pre; }
/* cut in its middle, where the first of its two parts ends */
.name bdi { display: inline-flex; max-width: 100%; vertical-align: top; }
.name span { overflow: hidden; text-overflow: ellipsis; }
.name span + span { flex: none; max-width: 75cqi; }
.state { color: var(--soft); font-size: 0.9rem; font-variant-numeric: tabular-nums; overflow-wrap: anywhere; }
.waiting li { padding-block: 0.3rem; contain-intrinsic-block-size: auto 2.75rem; }
.waiting .words { display: flex; gap: 0 0.85rem; align-items: baseline; }
.waiting .name { min-width: 0; }
.waiting .state { margin-inline-start: auto; white-space: nowrap; }
.waiting .picture { align-self: center; }
.waiting li .progress, .alike .error, button.icon span:empty, .link:empty, details .progress, li[data-state="cancelled"] .progress { display: none; }
#queue .files > .error { padding: 0.7rem 1.15rem; border-top: 1px solid var(--line); }
li .actions { display: flex; align-items: center; gap: 0.15rem; margin-inline-end: -0.75rem; }
li .actions:has(> button:last-child span:not(:empty)) { margin-inline-end: 0; }
.progress { display: flex; align-items: center; gap: 0.75rem; }
li .progress { grid-column: 2 / -1; }
.share { min-width: 3em; text-align: end; color: var(--soft); font-size: 0.9rem; font-variant-numeric: tabular-nums; }
button.icon { display: flex; align-items: center; justify-content: center; gap: 0.4rem; min-width: 2.75rem; padding: 0 0.6rem; border-color: transparent; background: none; color: var(--soft); font-size: 0.92rem; }
button.icon:has(span:not(:empty)) { border-color: var(--edge); color: var(--text); min-height: 2.4rem; }
button.icon:hover { background: var(--tint); border-color: transparent; color: var(--accent); }
button.icon svg { width: 1.3rem; }
.link { display: flex; flex-wrap: wrap; gap: 0.35rem 1rem; font-size: 0.92rem; }
.link a { color: var(--accent); }
.link button { padding: 0; min-height: 1.5rem; border: 0; background: none; color: var(--accent); text-decoration: underline; font-weight: inherit; }
.bar { position: relative; flex: 1; height: 0.4rem; border-radius: 1rem; background: var(--line); overflow: hidden; }
.bar i { position: absolute; inset: 0; background: var(--tone, var(--accent)); transform-origin: left; transform: scaleX(0); }
[dir="rtl"] .bar i { transform-origin: right; }
.sent { opacity: 0.45; }
[data-state="uploading"] > .progress i { transition: transform 200ms linear; }
[data-state="paused"], [data-state="needs-file"] { --tone: light-dark(#a8720a, #d9a63f); }
[data-state="failed"] { --tone: var(--bad); }
[data-state="completed"] { --tone: var(--good); }
/* a row keeps its height until it moves */
li[data-state="completed"] .progress { visibility: hidden; }
/* WebKit would call what is folded visible */
details:not([open]) li { content-visibility: visible; }
li[data-state="completed"] .state { color: var(--good); }
li[data-state="paused"] .state { color: light-dark(#8a5a00, #f0c060); }
li[data-state="cancelled"] .name { color: var(--soft); }
li[data-state="cancelled"] .name span { text-decoration: line-through; }
summary { padding: 0.8rem 1.15rem; border-top: 1px solid var(--line); color: var(--good); font-weight: 550; cursor: pointer; }
summary:focus-visible { outline-offset: -3px; }
@container (max-width: 32rem) {
  /* the name and the error have the whole width */
  li { grid-template-columns: 2rem minmax(0, 1fr) auto; column-gap: 0.5rem; padding: 0.5rem 0.6rem; }
  summary, #unfinished > h2, #unfinished > p, #queue .files > .error { padding-inline: 0.6rem; }
  .words { display: contents; }
  .picture { width: 2rem; height: 2rem; font-size: 0.55rem; letter-spacing: 0; }
  .name { grid-column: 2 / -1; }
  .state { grid-column: 1 / 3; min-height: 3em; align-content: center; }
  /* the name needs the room: what is said of it stands below, and is no higher than a button */
  .waiting .words { display: block; line-height: 1.35; }
  .waiting .state { min-height: 0; font-size: 0.8rem; }
  .waiting li .actions { grid-area: auto / 3; }
  /* all can be paused above */
  .waiting [data-state="queued"] button:first-child { display: none; }
  .error, .link { grid-column: 1 / -1; }
  li .actions { grid-area: 2 / 3; margin-inline-end: -0.5rem; }
  details .picture, details li .actions { grid-row: 1 / 3; }
  details .name { grid-column: 2; }
  details .state { grid-column: 2; min-height: 0; }
  li .progress { grid-column: 1 / -1; }
  li .share { font-size: 0.8rem; line-height: 1; }
  .compact .invitation { display: none; }
  .compact #drop { padding: 0.5rem; }
  .compact .ways { flex: 1; gap: 0.5rem; }
  .compact .ways button { flex: 1; padding-inline: 0.25rem; font-size: 0.92rem; }
  .summary { padding-inline: 0.6rem; column-gap: 0.5rem; }
  .numbers { grid-column: 1 / -1; }
  [data-state="uploading"] > .numbers { min-height: 3em; }
  button, .summary button { padding-inline: 0.6rem; }
  .summary > .actions > button:first-child { white-space: nowrap; }
  #more { display: flex; }
  #menu { position: absolute; z-index: 1; inset-block-start: calc(100% + 0.25rem); inset-inline-end: 0; flex-direction: column; gap: 0; width: max-content; padding: 0.3rem; background: var(--card); border: 1px solid var(--edge); border-radius: calc(var(--radius) * 0.6); box-shadow: 0 0.5rem 1.5rem rgb(0 0 0 / 0.25); }
  #more:not([aria-expanded="true"]) + #menu, #more[hidden] + #menu { display: none; }
  #cancel-all { margin: 0; }
  #menu button { text-align: start; min-height: 2.75rem; }
  #menu button:hover { background: var(--tint); }
}
@container (max-width: 20rem) { .state, .numbers { font-size: 0.8rem; } }
@container (max-width: 17rem) { .state, [data-state="uploading"] > .numbers { min-height: 4.5em; } }
@container (max-width: 15rem) {
  .state, li .actions { grid-area: auto / 1 / auto / -1; }
  .summary { display: flex; flex-direction: column; align-items: stretch; }
  .numbers { overflow-wrap: anywhere; }
}
@media (forced-colors: active) {
  .bar { border: 1px solid CanvasText; }
  .bar i { forced-color-adjust: none; background: Highlight !important; }
  #done svg { forced-color-adjust: none; background: CanvasText; color: Canvas; }
  li .actions { margin-inline-end: 0; }
}
`
