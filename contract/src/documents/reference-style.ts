/** The look of the reference page, for light and dark screens. */
export const pageStyle = `
:root { color-scheme: light dark; --line: light-dark(#d8dee6, #333b46); --soft: light-dark(#f4f6f9, #1b2027); --ink: light-dark(#1c232b, #e3e8ee); --link: light-dark(#0b5cad, #7cb7ff); }
* { box-sizing: border-box; }
body { margin: 0; font: 15px/1.55 system-ui, sans-serif; color: var(--ink); background: light-dark(#fff, #12161b); display: grid; grid-template-columns: 17rem minmax(0, 1fr); }
header { grid-column: 1 / -1; padding: 1.2rem 2rem; border-bottom: 1px solid var(--line); background: var(--soft); }
header h1, header p { margin: 0; } h1 small { font-weight: 400; font-size: .5em; opacity: .7; }
nav { padding: 1rem 1.5rem; border-right: 1px solid var(--line); position: sticky; top: 0; align-self: start; max-height: 100vh; overflow: auto; }
nav ul { list-style: none; padding-left: .6rem; margin: 0 0 .6rem; } nav > ul { padding: 0; } nav > ul > li { text-transform: capitalize; font-weight: 600; }
nav li li { text-transform: none; font-weight: 400; font-size: .92em; }
main { padding: 1rem 2rem 4rem; max-width: 66rem; } h2 { text-transform: capitalize; border-bottom: 1px solid var(--line); padding-bottom: .2rem; margin-top: 2.5rem; }
article { margin: 1.8rem 0; } h3 { margin: 0 0 .3rem; } h4 { margin: 1rem 0 .3rem; }
.route { background: var(--soft); border: 1px solid var(--line); border-radius: 6px; padding: .4rem .7rem; margin: .3rem 0; } .route span { float: right; opacity: .75; font-size: .9em; }
.wide { overflow-x: auto; } table { border-collapse: collapse; width: 100%; font-size: .92em; } th, td { text-align: left; vertical-align: top; padding: .25rem .7rem .25rem 0; border-bottom: 1px solid var(--line); }
td:first-child { white-space: nowrap; } code, pre { font-family: ui-monospace, monospace; font-size: .92em; } pre { background: var(--soft); border: 1px solid var(--line); border-radius: 6px; padding: .6rem .8rem; overflow-x: auto; }
a { color: var(--link); text-decoration: none; } a:hover { text-decoration: underline; } b[title] { color: light-dark(#b3261e, #ff8a80); }
code { overflow-wrap: anywhere; }
@media (max-width: 50rem) {
  body { display: block; } header { padding: 1rem; } main { padding: .5rem 1rem 3rem; }
  nav { position: static; max-height: 40vh; padding: .5rem 1rem; border: 0; border-bottom: 1px solid var(--line); }
  .route span { float: none; display: block; }
  .wide table, .wide tbody, .wide tr, .wide td { display: block; } .wide thead { display: none; }
  .wide tr { padding: .35rem 0; border-bottom: 1px solid var(--line); } .wide td { border: 0; padding: 0; overflow-wrap: anywhere; }
  td:first-child { white-space: normal; }
}
`;
