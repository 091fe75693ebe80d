/** Explains which of several variables of one name counts, in the words of docs/use/variables.md. */
import classes from './variables.module.css';

const levels = [
  ['Organization', 'the organization', 'GLOBAL'],
  ['Template', 'the template', 'BLUEPRINT'],
  ['Project, from the top project down', 'each project', 'PROJECT'],
  ['Environment', 'the environment', 'ENVIRONMENT'],
  ['Deployment', '–', 'DEPLOYMENT'],
] as const;

export function WhichCounts() {
  return (
    <details className={classes.explained}>
      <summary>Which value is used?</summary>
      <p>
        The levels go from the outermost to the innermost. At each level, the configuration sets that are
        assigned there come first, in the order of assignment, and then the variables of the level itself. The
        last variable of a name and type counts; the others are hidden.
      </p>
      <table>
        <thead>
          <tr>
            <th scope="col">Level</th>
            <th scope="col">Assigned sets of</th>
            <th scope="col">Then variables of scope</th>
          </tr>
        </thead>
        <tbody>
          {levels.map(([level, sets, scope]) => (
            <tr key={level}>
              <td>{level}</td>
              <td>{sets}</td>
              <td>
                <code>{scope}</code>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      <ul>
        <li>
          <strong>Read-only</strong> ends the sequence: nothing after it has an effect. New ones are refused;
          existing ones stay stored and count again when the read-only variable is gone.
        </li>
        <li>
          <strong>Required</strong>: the value must not be empty when an environment is deployed.
        </li>
        <li>
          <strong>Choices and expressions</strong>: the value must also satisfy those of the variables that it
          hides. An override that does not have its own inherits them, the format, the description and whether
          it is sensitive.
        </li>
        <li>
          <strong>Types</strong>: environment variables and variables of the code of the same name do not
          affect each other.
        </li>
      </ul>
    </details>
  );
}
