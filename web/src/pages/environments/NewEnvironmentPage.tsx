import { Page } from '../../ui/Page.tsx';

export function NewEnvironmentPage() {
  return (
    <Page title="New environment" calls={[]}>
      stub
    </Page>
  );
}
