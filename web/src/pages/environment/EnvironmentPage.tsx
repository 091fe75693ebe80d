import { Page } from '../../ui/Page.tsx';

export function EnvironmentPage() {
  return (
    <Page title="Environment" calls={[]}>
      stub
    </Page>
  );
}
