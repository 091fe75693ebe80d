/**
 * A notification as Teams shows it: an Adaptive Card for the webhook of a workflow. Its texts are runs, which have
 * no markup: names cannot become links or formats.
 */
import type { Words } from './words.ts';

function run(text: string, more: object = {}) {
  return { type: 'TextRun', text, ...more };
}

function paragraph(...inlines: readonly object[]) {
  return { type: 'RichTextBlock', inlines };
}

/** The body for a webhook of Teams. */
export function teamsMessage({ title, facts, error, link }: Words) {
  const content = {
    $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
    type: 'AdaptiveCard',
    version: '1.4',
    body: [
      paragraph(run(title, { size: 'Large', weight: 'Bolder' })),
      ...facts.map(([name, value]) => paragraph(run(`${name}: `, { isSubtle: true }), run(value))),
      ...(error === null ? [] : [paragraph(run(error, { color: 'Attention' }))]),
    ],
    ...(link === null ? {} : { actions: [{ type: 'Action.OpenUrl', title: 'Open', url: link }] }),
  };
  return {
    type: 'message',
    attachments: [{ contentType: 'application/vnd.microsoft.card.adaptive', contentUrl: null, content }],
  };
}
