/** A thread that reads one YAML text of strangers, started by `read-yaml.ts`. */
import { parseDocument } from 'yaml';
import { answerTasks } from '#guards/threads/answer-tasks.ts';
import { sealedMark } from './sealed-mark.ts';

/** Or else a text of a few lines stands for a billion values. */
const mostAliases = 100;

answerTasks((text: string): unknown => {
  const document = parseDocument(text, {
    merge: true,
    logLevel: 'error',
    intAsBigInt: true,
    customTags: [{ tag: '!vault', resolve: () => sealedMark }],
  });
  const [error] = document.errors;
  if (error) throw new Error(error.message.replaceAll(/\s*\n[\s\S]*$/g, '').replace(/:$/, ''));
  return document.toJS({ maxAliasCount: mostAliases });
});
