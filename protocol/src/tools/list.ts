/** The facts of every tool that this version can run: one line for each. */

export { ansible } from './ansible.ts';
export { cloudformation } from './cloudformation/facts.ts';
export { helm } from './helm.ts';
export { k8s } from './k8s.ts';
export { opentofu } from './opentofu.ts';
export { pulumi } from './pulumi.ts';
export { terraform } from './terraform.ts';
export { terragrunt } from './terragrunt.ts';
