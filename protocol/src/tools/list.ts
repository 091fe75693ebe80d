/** The facts of every tool that this version can run: one line for each. */
export { opentofu } from './opentofu.ts';
export { terraform } from './terraform.ts';
