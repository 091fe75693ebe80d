/** Refuses a request that says two things about one variable. */
import { badField, pointerTo } from '../../ground/errors.ts';
import { type Candidate, variableKey } from './precedence.ts';

export class WrittenVariables {
  /** Position at which each was written, by its id and by its name and type. */
  readonly #fields = new Map<string, string>();

  /**
   * Deletions are not noted: a variable may be deleted and created again.
   * @param id of the variable, if it exists
   * @param field location of the change in the request, as `body.configurationChanges.0`
   * @throws Refusal 400 where an earlier change wrote the same variable, or one of the same name and type
   */
  note(variable: Pick<Candidate, 'name' | 'type'>, id: string | undefined, field: string): void {
    const keys = [variableKey(variable), ...(id === undefined ? [] : [id])];
    const first = keys.map((key) => this.#fields.get(key)).find((each) => each !== undefined);
    if (first !== undefined)
      throw badField(
        `${field}.name`,
        `"${variable.name}" of type ${variable.type} is also in ${pointerTo(first)}: send each variable once`,
      );
    for (const key of keys) this.#fields.set(key, field);
  }
}
