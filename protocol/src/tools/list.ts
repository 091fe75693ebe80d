/** The facts of every tool that this version can run: one line for each. */
export { ansible } from './ansible.ts';
export { opentofu } from './opentofu.ts';
export { terraform } from './terraform.ts';
