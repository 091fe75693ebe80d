/** The variables that hold in a project. */
import type { Project } from '#contract/projects/shapes.ts';
import { ScopeVariables } from '../variables/ScopeVariables.tsx';
import { WhichCounts } from '../variables/WhichCounts.tsx';

export default function VariablesTab({ project: { id } }: { readonly project: Project }) {
  return (
    <>
      <ScopeVariables place={{ kind: 'project', id }} />
      <WhichCounts />
    </>
  );
}
