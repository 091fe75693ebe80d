#!/usr/bin/env node
/** `envarium` of a checkout, for the PATH: `npm link` makes it, or a link to this file. Any Node from 18 runs it. */
process.argv.splice(2, 0, 'cli/src/main.ts');
await import('./launch.mjs');
