/** Templates (on the wire: blueprints). */
import { Type } from 'typebox';
import { defineOperations, operation } from '../operation.ts';
import { Name } from '../schema/schema.ts';
import { Template } from './shapes.ts';

export const operations = defineOperations('templates', {
  getTemplate: operation('GET', '/blueprints/{id}', {
    summary: 'Get template',
    description: 'Includes single-use templates, which belong to environments created without a template.',
    needs: 'VIEW_PROJECT',
    subject: { entity: 'template', in: 'params', field: 'id' },
    params: Type.Object({ id: Name }),
    reply: Template,
  }),
});
