/** Kinds of stored templates, as messages and the audit trail name them. Pure. */
import {
  type CreatableTemplateType,
  creatableTemplateTypes,
  type StoredTemplateType,
} from '#contract/schema/enumerations.ts';

export interface TemplateKind {
  /** In the audit trail, and as operations name it. */
  readonly entity: string;
  readonly words: string;
  /** Inside a sentence. */
  readonly one: string;
  /** At the beginning of one. */
  readonly One: string;
}

const kinds: Readonly<Partial<Record<StoredTemplateType, TemplateKind>>> = {
  'approval-policy': {
    entity: 'approvalPolicy',
    words: 'approval policy',
    one: 'an approval policy',
    One: 'An approval policy',
  },
  'custom-flow': { entity: 'customFlow', words: 'custom flow', one: 'a custom flow', One: 'A custom flow' },
};

export function kindOf(type: StoredTemplateType): TemplateKind {
  return kinds[type] ?? { entity: 'template', words: 'template', one: 'a template', One: 'A template' };
}

/** Whether people create templates of the type, so that one can become another. */
export function isCreatable(type: StoredTemplateType): type is CreatableTemplateType {
  return (creatableTemplateTypes as readonly string[]).includes(type);
}
