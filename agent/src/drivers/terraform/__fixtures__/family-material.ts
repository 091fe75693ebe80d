import type { Material } from '../../../../testing/driver-material.ts';

/**
 * Material recorded with one version of a tool of the terraform family, using the same scenarios for all of
 * them.
 */
export function familyMaterial(version: string): Material {
  return {
    tree: { 'main.tf': 'resource "terraform_data" "a" {}\n' },
    plans: {
      'a first deployment': {
        files: { 'plan.json': `create-${version}.plan.json` },
        summary: { added: 12, changed: 0, destroyed: 0 },
        changes: {
          'terraform_data.updated': 'create',
          'terraform_data.gone[1]': 'create',
          'module.vpc["i.1"].terraform_data.subnet["q\\"uote"]': 'create',
        },
        hasChanges: true,
      },
      'a change of every kind': {
        files: { 'plan.json': `change-${version}.plan.json` },
        summary: { added: 2, changed: 2, destroyed: 4, imported: 1, replaced: 2, forgotten: 1, moved: 1 },
        changes: {
          'terraform_data.adopted': 'metadata',
          'terraform_data.follows': 'update',
          'terraform_data.gone[0]': 'delete',
          'terraform_data.gone[1]': 'delete',
          'terraform_data.left': 'metadata',
          'terraform_data.made_first': 'recreate',
          'terraform_data.new': 'metadata',
          'terraform_data.replaced': 'recreate',
          'terraform_data.updated': 'update',
        },
        hasChanges: true,
      },
      'no change': {
        files: { 'plan.json': `nothing-${version}.plan.json` },
        summary: { added: 0, changed: 0, destroyed: 0 },
        changes: {},
        hasChanges: false,
      },
      'a change of outputs only': {
        files: { 'plan.json': `outputs-only-${version}.plan.json` },
        summary: { added: 0, changed: 0, destroyed: 0 },
        changes: {},
        hasChanges: true,
      },
      'a move': {
        files: { 'plan.json': `move-only-${version}.plan.json` },
        summary: { added: 0, changed: 0, destroyed: 0, moved: 1 },
        changes: { 'terraform_data.still_same': 'metadata' },
        hasChanges: true,
      },
      'a destroy': {
        files: { 'plan.json': `destroy-${version}.plan.json` },
        summary: { added: 0, changed: 0, destroyed: 10 },
        changes: { 'terraform_data.new': 'delete' },
        hasChanges: true,
      },
      'a drift run': {
        files: { 'plan.json': `drift-${version}.plan.json`, 'refresh.json': `drift-${version}.refresh.json` },
        summary: { added: 1, changed: 2, destroyed: 0 },
        changes: {
          'aws_ssm_parameter.changed': 'update',
          'aws_ssm_parameter.code': 'update',
          'aws_ssm_parameter.deleted': 'create',
        },
        hasChanges: true,
      },
      'a drift run that finds nothing': {
        files: {
          'plan.json': `nothing-${version}.plan.json`,
          'refresh.json': `refresh-nothing-${version}.plan.json`,
        },
        summary: { added: 0, changed: 0, destroyed: 0 },
        changes: {},
        hasChanges: false,
      },
    },
    state: {
      file: `created-${version}.tfstate`,
      resourceCount: 12,
      outputs: { old_output: false, password: true, size: false },
    },
  };
}
