/** The programs that agents download, by the word in the names of their settings: one line for each. */
export { ansible } from './ansible.ts';
export { helm } from './helm.ts';
export { infracost } from './infracost.ts';
export { kubectl } from './kubectl.ts';
export { kustomize } from './kustomize.ts';
export { opentofu } from './opentofu.ts';
export { pulumi } from './pulumi.ts';
export { terraform } from './terraform.ts';
export { terragrunt } from './terragrunt.ts';
