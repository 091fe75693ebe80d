import type { Material } from '../../../../testing/driver-material.ts';

const urn = (name: string) => `urn:pulumi:network-abc123::shop::file:index:File::${name}`;

export const material: Material = {
  tree: { 'Pulumi.yaml': 'name: shop\nruntime: yaml\n' },
  environment: { PULUMI_CONFIG_PASSPHRASE: 'a passphrase of the tests' },
  plans: {
    'a first deployment': {
      files: { 'preview.jsonl': '3.259.0-first.jsonl' },
      summary: { added: 2, changed: 0, destroyed: 0 },
      changes: { [urn('page')]: 'create', [urn('key')]: 'create' },
      hasChanges: true,
    },
    'no change': {
      files: { 'preview.jsonl': '3.259.0-same.jsonl' },
      summary: { added: 0, changed: 0, destroyed: 0 },
      changes: {},
      hasChanges: false,
    },
    'an update and a replacement': {
      files: { 'preview.jsonl': '3.259.0-change.jsonl' },
      summary: { added: 1, changed: 1, destroyed: 1, replaced: 1 },
      changes: { [urn('page')]: 'update', [urn('key')]: 'recreate' },
      hasChanges: true,
    },
    'drift': {
      files: { 'preview.jsonl': '3.259.0-drift.jsonl' },
      summary: { added: 0, changed: 1, destroyed: 0 },
      changes: { [urn('page')]: 'update' },
      hasChanges: true,
    },
    'a destroy': {
      files: { 'preview.jsonl': '3.259.0-destroy.jsonl' },
      summary: { added: 0, changed: 0, destroyed: 2 },
      changes: { [urn('page')]: 'delete', [urn('key')]: 'delete' },
      hasChanges: true,
    },
  },
  state: { file: '3.259.0-state.json', resourceCount: 2, outputs: { page: false, key: true } },
};
