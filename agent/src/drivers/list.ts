/** The drivers of all supported tools, one per line. */

export { ansible } from './ansible/driver.ts';
export { cloudformation } from './cloudformation/driver.ts';
export { helm } from './helm/driver.ts';
export { k8s } from './k8s/driver.ts';
export { opentofu } from './opentofu/driver.ts';
export { pulumi } from './pulumi/driver.ts';
export { terraform } from './terraform/driver.ts';
export { terragrunt } from './terragrunt/driver.ts';
