import type { Material } from '../../../../testing/driver-material.ts';

export const material: Material = {
  tree: { 'template.yaml': 'Resources:\n  Queue:\n    Type: AWS::SQS::Queue\n' },
  plans: {
    'a first deployment': {
      files: { 'change-set.json': 'change-set-create-1.0.0.json' },
      summary: { added: 3, changed: 0, destroyed: 0 },
      changes: { Failed: 'create', Orders: 'create', Topic: 'create' },
      hasChanges: true,
    },
    'a change that replaces a resource': {
      files: { 'change-set.json': 'change-set-update-1.0.0.json' },
      summary: { added: 1, changed: 1, destroyed: 1, replaced: 1 },
      changes: { Orders: 'recreate', Topic: 'update' },
      hasChanges: true,
    },
    'no change': {
      files: { 'change-set.json': 'change-set-empty-1.0.0.json' },
      summary: { added: 0, changed: 0, destroyed: 0 },
      changes: {},
      hasChanges: false,
    },
  },
};
