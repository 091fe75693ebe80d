/** The driver of OpenTofu; tried with 1.12.6. */
import { terraformFamily } from '../terraform/family.ts';
import { tofuFiles } from '../terraform/files.ts';

export const opentofu = terraformFamily({
  type: 'opentofu',
  program: 'tofu',
  stepPrefix: 'opentofu',
  fileRules: tofuFiles,
  writesEvents: true,
  readsVariablesEarly: true,
});
