/** The driver of OpenTofu; tested with 1.12.6. */
import { opentofu as facts } from '#protocol/tools/opentofu.ts';
import { tofuFiles } from '../terraform/code/files.ts';
import { terraformFamily } from '../terraform/family.ts';

export const opentofu = terraformFamily({
  facts,
  fileRules: tofuFiles,
  writesEvents: true,
  readsVariablesEarly: true,
  evaluatesSourcesFrom: '0.0.0-0',
  importsFrom: '1.6.0',
  // Its registry signs packages for some publishers only.
  needsSignature: false,
});
