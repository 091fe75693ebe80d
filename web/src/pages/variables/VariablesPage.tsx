import { Page } from '../../ui/Page.tsx';

export function VariablesPage() {
  return (
    <Page title="Variables" calls={[]}>
      stub
    </Page>
  );
}
