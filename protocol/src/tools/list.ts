/** The facts of every tool that this version can run: one line for each. */
export { terragrunt } from './terragrunt.ts';
export { ansible } from './ansible.ts';
export { cloudformation } from './cloudformation/facts.ts';
export { k8s } from './k8s.ts';
export { helm } from './helm.ts';
export { opentofu } from './opentofu.ts';
export { terraform } from './terraform.ts';
export { pulumi } from './pulumi.ts';
