/** The place to drop, and what everything has in common. */
export const shell = `
:host {
  display: block; font-size: 1rem; line-height: 1.5; container-type: inline-size;
  /* a container has no width of its own: this is what it asks of a parent that fits its content */
  contain-intrinsic-inline-size: min(30rem, 70vw); min-inline-size: 0; max-inline-size: 100%;
  --card: var(--stevedore-card, light-dark(#fff, #1d2026));
  --line: var(--stevedore-line, light-dark(#dfe3e8, #30353d));
  --edge: light-dark(#848e9a, #6f7a87);
  --text: var(--stevedore-text, light-dark(#1a1f27, #eceff3));
  --soft: var(--stevedore-soft, light-dark(#59636f, #a3adb9));
  --accent: var(--stevedore-accent, light-dark(#0b62c4, #6db3ff));
  --on-accent: var(--stevedore-on-accent, light-dark(#fff, #0b1a2b));
  --tint: color-mix(in srgb, var(--accent) 10%, var(--card));
  --good: var(--stevedore-good, light-dark(#167a45, #5ccf8f));
  --bad: var(--stevedore-bad, light-dark(#b3261e, #ff9a91));
  --radius: var(--stevedore-radius, 1rem);
}
:host(:disabled) { opacity: 0.6; }
:host([hidden]), [hidden] { display: none !important; }
* { box-sizing: border-box; }
#all { color: var(--text); display: grid; gap: 1rem; text-align: start; text-indent: 0; text-transform: none; text-shadow: none; letter-spacing: normal; word-spacing: normal; white-space: normal; }
.unseen { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
p, ul, h2 { margin: 0; padding: 0; }
button { font: inherit; font-weight: 550; color: var(--text); background: var(--card); border: 1px solid var(--edge); border-radius: calc(var(--radius) * 0.6); padding: 0.5rem 1rem; min-height: 2.75rem; cursor: pointer; }
button:hover { border-color: var(--accent); color: var(--accent); }
button.primary { background: var(--accent); border-color: var(--accent); color: var(--on-accent); }
button.primary:hover { filter: brightness(1.08); color: var(--on-accent); }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
svg { fill: none; stroke: currentColor; stroke-width: 2; stroke-linecap: round; stroke-linejoin: round; }
#drop { display: grid; justify-items: center; gap: 0.75rem; text-align: center; padding: clamp(1.5rem, 5cqi, 2.75rem) 1rem; border: 2px dashed var(--edge); border-radius: var(--radius); background: var(--card); }
#drop > svg { width: 3rem; color: var(--accent); }
.invitation, .touch { font-size: 1.15rem; font-weight: 600; text-wrap: balance; }
.touch { display: none; }
.ways { display: flex; flex-wrap: wrap; justify-content: center; gap: 0.6rem; }
.hint { color: var(--soft); font-size: 0.92rem; }
.error { color: var(--bad); font-size: 0.92rem; padding-top: 0.15rem; overflow-wrap: anywhere; }
:host([data-over]) #drop { border-color: var(--accent); border-style: solid; background: var(--tint); }
:host([whole-page][data-over])::after { content: ""; position: fixed; inset: 0; border: 4px solid var(--accent); pointer-events: none; }
@media (hover: none) and (pointer: coarse) {
  .invitation, .hint, #choose-folder { display: none; }
  .touch { display: block; }
}
@media (prefers-reduced-motion: reduce) { * { transition: none !important; animation: none !important; } }
@media (forced-colors: active) {
  button.primary { forced-color-adjust: none; background: Highlight; border-color: Highlight; color: HighlightText; }
  #drop > svg { color: CanvasText; }
}
`
