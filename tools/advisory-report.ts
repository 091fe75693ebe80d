/** Judges what `npm audit --json` answers. */

interface Advisory {
  readonly name: string;
  readonly title: string;
  readonly url: string;
  readonly severity: string;
  readonly range: string;
}

interface AdvisoryReply {
  /** A name represents an advisory of that package. */
  readonly vulnerabilities?: Readonly<
    Record<string, { readonly via: readonly (Advisory | string)[]; readonly nodes: readonly string[] }>
  >;
  readonly message?: string;
  readonly statusCode?: number;
  readonly error?: { readonly code?: string | null; readonly summary?: string | null };
}

/** An advisory that does not concern us, or not yet. */
export interface AdvisoryException {
  /** The last part of the advisory's address: GHSA-…. */
  readonly advisory: string;
  readonly package: string;
  readonly reason: string;
  /** The last day on which it is accepted: YYYY-MM-DD. */
  readonly expires: string;
}

export interface Verdict {
  readonly lines: readonly string[];
  readonly isGood: boolean;
}

const serious = new Set(['high', 'critical']);

/**
 * Advisories about production packages. npm's own `--omit=dev` would also omit those that a
 * development package uses.
 * @param text what npm printed
 * @param exceptionsText the file of exceptions
 * @param isForDevelopment whether a path of the lockfile is installed for development only
 * @throws Error when an exception is incomplete
 */
export function readAnswer(
  text: string,
  exceptionsText: string,
  isForDevelopment: (path: string) => boolean,
  today: Date,
): Verdict {
  const exceptions = readExceptions(exceptionsText);
  const answer = parse(text);
  if (!answer?.vulnerabilities) return { lines: [`Advisories: SKIPPED, ${reasonOf(answer)}.`], isGood: true };
  const found = new Map<string, Advisory>();
  for (const { via, nodes } of Object.values(answer.vulnerabilities)) {
    if (nodes.every(isForDevelopment)) continue;
    for (const one of via) if (typeof one !== 'string') found.set(`${one.name} ${one.url}`, one);
  }
  const verdicts = [...found.values()].map((one) => judge(one, exceptions, today));
  const failures = verdicts.filter(({ isGood }) => !isGood).length;
  const sum = `Advisories: ${found.size} for our production packages, ${failures} of them to be solved.`;
  return { lines: [...verdicts.map(({ line }) => line), sum], isGood: failures === 0 };
}

function judge(
  { name, title, url, severity, range }: Advisory,
  exceptions: readonly AdvisoryException[],
  today: Date,
): { line: string; isGood: boolean } {
  const what = `${severity}: ${name} ${range}: ${title} (${url})`;
  if (!serious.has(severity)) return { line: `  ${what}`, isGood: true };
  const exception = exceptions.find((one) => one.package === name && url.endsWith(`/${one.advisory}`));
  if (!exception) return { line: `✖ ${what}`, isGood: false };
  if (today.toISOString().slice(0, 10) > exception.expires)
    return { line: `✖ ${what}: its exception expired on ${exception.expires}`, isGood: false };
  return { line: `  ${what}: accepted until ${exception.expires}, ${exception.reason}`, isGood: true };
}

function readExceptions(text: string): AdvisoryException[] {
  const exceptions = JSON.parse(text) as Partial<AdvisoryException>[];
  return exceptions.map((one) => {
    const { advisory, package: name, reason, expires } = one;
    if (!advisory || !name || !reason || !/^\d{4}-\d\d-\d\d$/.test(expires ?? ''))
      throw new Error(
        `An exception needs advisory, package, reason and expires (YYYY-MM-DD): ${JSON.stringify(one)}`,
      );
    return { advisory, package: name, reason, expires: expires ?? '' };
  });
}

function parse(text: string): AdvisoryReply | null {
  try {
    return JSON.parse(text) as AdvisoryReply;
  } catch {
    return null;
  }
}

/** Never the registry's address: it may contain credentials. */
function reasonOf(answer: AdvisoryReply | null): string {
  if (answer?.statusCode) return `the registry does not answer this question (status ${answer.statusCode})`;
  if (answer?.error?.code) return `the registry cannot be queried (${answer.error.code})`;
  return 'npm gave no answer';
}
