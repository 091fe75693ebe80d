import type { Material } from '../../../../testing/driver-material.ts';

const host = 'localhost/site';

export const material: Material = {
  tree: { 'playbook.yml': '- hosts: localhost\n', 'destroy.yml': '- hosts: localhost\n' },
  plans: {
    'a first deployment': {
      files: { 'events.jsonl': 'create-2.19.14.events.jsonl' },
      summary: { added: 2, changed: 0, destroyed: 0, unknown: 1 },
      changes: {
        [`${host}/Create the folder`]: 'create',
        [`${host}/Write the page`]: 'create',
        [`${host}/Count the words`]: 'metadata',
      },
      hasChanges: true,
    },
    'no change': {
      files: { 'events.jsonl': 'nothing-2.19.14.events.jsonl' },
      summary: { added: 0, changed: 0, destroyed: 0 },
      changes: {},
      hasChanges: false,
    },
    'a file that was changed by hand': {
      files: { 'events.jsonl': 'change-2.19.14.events.jsonl' },
      summary: { added: 0, changed: 1, destroyed: 0, unknown: 1 },
      changes: { [`${host}/Write the page`]: 'update', [`${host}/Count the words`]: 'metadata' },
      hasChanges: true,
    },
    'a destroy': {
      files: { 'events.jsonl': 'destroy-2.19.14.events.jsonl' },
      summary: { added: 0, changed: 0, destroyed: 1 },
      changes: { 'localhost/Removal of web sites/Remove the folder': 'delete' },
      hasChanges: true,
    },
  },
};
