/** The driver of terraform; tested with 1.11.4. */
import { terraform as facts } from '#protocol/tools/terraform.ts';
import { terraformFiles } from './code/files.ts';
import { terraformFamily } from './family.ts';

export const terraform = terraformFamily({
  facts,
  fileRules: terraformFiles,
  writesEvents: false,
  readsVariablesEarly: false,
  evaluatesSourcesFrom: '1.15.0-0',
  importsFrom: '1.5.0',
  needsSignature: true,
});
