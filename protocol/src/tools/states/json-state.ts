/** Formats of states that are one JSON document, of which only an outline is read: its parts can be large. */
import { outlineJson } from '#guards/json-bytes.ts';
import type { StateFacts, StateFormat } from '../tool.ts';

interface JsonState<File> {
  readonly mark: string;
  /** Depth of the outline. */
  readonly levels: number;
  /** Why the outline is not one of the format, as an error's message; null: it is. */
  problemOf(outline: unknown): string | null;
  /** @param file an outline without a problem */
  factsOf(file: File): StateFacts;
}

export function jsonState<File>({ mark, levels, problemOf, factsOf }: JsonState<File>): StateFormat {
  const read = (bytes: Uint8Array, decoder: TextDecoder): StateFacts => {
    const decode = (part: Uint8Array) => decoder.decode(part);
    const { value } = outlineJson(bytes, { levels, decode, checksParts: true });
    const problem = problemOf(value);
    if (problem !== null) throw new Error(problem);
    return factsOf(value as File);
  };
  return {
    mark,
    read: (bytes) => read(bytes, new TextDecoder()),
    check(bytes) {
      if (bytes.length === 0) throw new Error('it is empty');
      return read(bytes, new TextDecoder('utf-8', { fatal: true }));
    },
  };
}

/** Whether a value of a state is a text that the database can store. */
export function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && !value.includes('\0') && value.isWellFormed();
}
