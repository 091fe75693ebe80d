/** A thread that reads one untrusted YAML text, started by `read-yaml.ts`. */
import { parseDocument } from 'yaml';
import { withNumbers } from '#contract/schema/exact-json.ts';
import { isSameKey, withExactNumbers } from '#guards/exact-yaml.ts';
import { answerTasks } from '#guards/threads/answer-tasks.ts';
import { sealedMark } from './sealed-mark.ts';

/** Or else a text of a few lines expands to a billion values. */
const mostAliases = 100;

/** Characters of an answer, which the service reads at once: aliases repeat what they refer to. */
const mostCharacters = 4_000_000;

/** Answers with JSON, because exact numbers cannot pass between threads. */
answerTasks((text: string): string => {
  const document = parseDocument(text, {
    merge: true,
    logLevel: 'error',
    intAsBigInt: true,
    uniqueKeys: isSameKey,
    customTags: (tags) => [...withExactNumbers(tags), { tag: '!vault', resolve: () => sealedMark }],
  });
  const [error] = document.errors;
  if (error) throw new Error(error.message.replaceAll(/\s*\n[\s\S]*$/g, '').replace(/:$/, ''));
  const json = JSON.stringify(withNumbers(document.toJS({ maxAliasCount: mostAliases })) ?? null);
  if (json.length > mostCharacters)
    throw new Error(`its aliases stand for more than ${mostCharacters} characters`);
  return json;
});
