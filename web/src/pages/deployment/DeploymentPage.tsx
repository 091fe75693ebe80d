import { Page } from '../../ui/Page.tsx';

export function DeploymentPage() {
  return (
    <Page title="Deployment" calls={[]}>
      stub
    </Page>
  );
}
