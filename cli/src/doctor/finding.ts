/** The result of a check. */

const standings = ['ok', 'warning', 'problem'] as const;
export type Standing = (typeof standings)[number];

export interface Finding {
  /** Subject, such as `git` or `agents`. */
  readonly check: string;
  readonly standing: Standing;
  /** Result or problem; never a secret. */
  readonly text: string;
  /** Remedy; absent if nothing is wrong. */
  readonly advice?: string;
}

export const ok = (check: string, text: string): Finding => ({ check, standing: 'ok', text });
export const warning = (check: string, text: string, advice: string): Finding => ({
  check,
  standing: 'warning',
  text,
  advice,
});
export const problem = (check: string, text: string, advice: string): Finding => ({
  check,
  standing: 'problem',
  text,
  advice,
});

/** A check that fails is a problem itself, and does not prevent others. */
export async function guarded(
  check: string,
  look: () => Promise<readonly Finding[]> | readonly Finding[],
): Promise<readonly Finding[]> {
  try {
    return await look();
  } catch (error) {
    return [
      problem(
        check,
        `cannot be checked: ${(error as Error).message}`,
        'Fix this first, then run the doctor again.',
      ),
    ];
  }
}
