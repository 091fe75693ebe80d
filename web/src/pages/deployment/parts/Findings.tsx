/** Reports of the tool besides the reason of a failure: further errors, failed checks and warnings. */
import { type Diagnostic, findingsText } from '#contract/deployments/diagnostics.ts';
import classes from './parts.module.css';

const words: Readonly<Record<Diagnostic['severity'], string>> = {
  error: 'Error',
  check: 'Failed check',
  warning: 'Warning',
};

function Finding({ finding: { severity, step, text } }: { readonly finding: Diagnostic }) {
  // The first line is the summary.
  const [title = '', ...rest] = text.replace(/^(unit \S+: )?(?:Error|Warning): /, '$1').split('\n');
  return (
    <li data-severity={severity}>
      <h3>
        <span className={classes.severity}>{words[severity]}</span> <bdi>{title}</bdi>{' '}
        <span className={classes.findingStep}>{step}</span>
      </h3>
      {rest.length > 0 && (
        <pre tabIndex={0} aria-label={title}>
          {rest.join('\n').trim()}
        </pre>
      )}
    </li>
  );
}

/** Nothing where the reason of the failure is all that there is. */
export function Findings({ diagnostics = [] }: { readonly diagnostics: readonly Diagnostic[] | undefined }) {
  const errors = diagnostics.filter(({ severity }) => severity === 'error');
  const shown = errors.length > 1 ? diagnostics : diagnostics.filter(({ severity }) => severity !== 'error');
  if (shown.length === 0) return null;
  const parts = [errors.length > 1 ? `${errors.length} errors` : '', findingsText(diagnostics)];
  return (
    <section className={classes.findings} aria-labelledby="findings">
      <h2 id="findings">{parts.filter((part) => part !== '').join(', ')}</h2>
      <ul>
        {shown.map((finding) => (
          <Finding key={`${finding.severity} ${finding.text}`} finding={finding} />
        ))}
      </ul>
    </section>
  );
}
