/**
 * The real tools that tests run and that no package registry ships as a binary: each is built by Go from its
 * own module, whose go.mod and go.sum are in the folder named after the recipe.
 */

export interface Recipe {
  /** The program's file name, as a person would type it. */
  readonly program: string;
  /** The Go package to build. */
  readonly package: string;
  /** For Go's linker, in addition to those that omit debugging data. */
  readonly linkerFlags: readonly string[];
  /** Files of Go in the recipe's folder that are compiled, too; absent: none. */
  readonly sources?: readonly string[];
  /** For Go's compiler; absent: none. */
  readonly tags?: readonly string[];
}

/** `-X` for each of the variables that a program tells its version by. */
function stamps(values: Readonly<Record<string, string>>): readonly string[] {
  return Object.entries(values).flatMap(([variable, value]) => ['-X', `${variable}=${value}`]);
}

const kubernetes = stamps({
  'k8s.io/component-base/version.gitVersion': 'v1.36.3',
  'k8s.io/component-base/version.gitMajor': '1',
  'k8s.io/component-base/version.gitMinor': '36',
});

export const recipes = {
  opentofu: {
    program: 'tofu',
    package: 'github.com/opentofu/opentofu/cmd/tofu',
    // Else it calls itself a development version.
    linkerFlags: stamps({ 'github.com/opentofu/opentofu/version.dev': 'no' }),
  },
  'provider-time': {
    program: 'terraform-provider-time_v0.14.2',
    package: 'github.com/hashicorp/terraform-provider-time',
    linkerFlags: stamps({ 'main.version': '0.14.2' }),
  },
  'provider-local': {
    program: 'terraform-provider-local_v1.4.0',
    package: 'github.com/terraform-providers/terraform-provider-local',
    linkerFlags: [],
  },
  helm: {
    program: 'helm',
    package: 'helm.sh/helm/v3/cmd/helm',
    // Without the version of Kubernetes, templates take the cluster for 1.20.
    linkerFlags: stamps({
      'helm.sh/helm/v3/internal/version.version': 'v3.21.4',
      'helm.sh/helm/v3/pkg/chartutil.k8sVersionMajor': '1',
      'helm.sh/helm/v3/pkg/chartutil.k8sVersionMinor': '36',
      'helm.sh/helm/v3/pkg/lint/rules.k8sVersionMajor': '1',
      'helm.sh/helm/v3/pkg/lint/rules.k8sVersionMinor': '36',
    }),
  },
  kustomize: {
    program: 'kustomize',
    package: 'sigs.k8s.io/kustomize/kustomize/v5',
    linkerFlags: stamps({ 'sigs.k8s.io/kustomize/api/provenance.version': 'v5.8.2' }),
  },
  'kube-apiserver': {
    program: 'kube-apiserver',
    package: 'k8s.io/kubernetes/cmd/kube-apiserver',
    linkerFlags: kubernetes,
  },
  'kube-controller-manager': {
    program: 'kube-controller-manager',
    package: 'k8s.io/kubernetes/cmd/kube-controller-manager',
    linkerFlags: kubernetes,
  },
  terragrunt: {
    program: 'terragrunt',
    package: 'github.com/gruntwork-io/terragrunt',
    linkerFlags: stamps({ 'github.com/gruntwork-io/terragrunt/internal/version.Version': 'v1.1.3' }),
  },
  opa: {
    program: 'opa',
    package: 'github.com/open-policy-agent/opa',
    linkerFlags: [],
  },
  pulumi: {
    program: 'pulumi',
    package: 'github.com/pulumi/pulumi/pkg/v3/cmd/pulumi',
    linkerFlags: stamps({ 'github.com/pulumi/pulumi/sdk/v3/go/common/version.Version': 'v3.259.0' }),
    tags: ['osusergo', 'grpcnotrace'],
  },
  'pulumi-language-yaml': {
    program: 'pulumi-language-yaml',
    package: 'github.com/pulumi/pulumi-yaml/cmd/pulumi-language-yaml',
    linkerFlags: stamps({ 'github.com/pulumi/pulumi-yaml/pkg/version.Version': 'v1.38.1' }),
  },
  infracost: {
    program: 'infracost',
    package: 'github.com/infracost/infracost/cmd/infracost',
    linkerFlags: stamps({ 'github.com/infracost/infracost/internal/version.Version': 'v0.10.45' }),
  },
  // Ours, for tests: its resource is a file, which it writes, reads, and on request fails to write.
  'pulumi-resource-file': {
    program: 'pulumi-resource-file',
    package: '.',
    linkerFlags: stamps({ 'main.version': '1.0.0' }),
    sources: ['main.go'],
  },
} as const satisfies Readonly<Record<string, Recipe>>;

export type ToolName = keyof typeof recipes;
export const toolNames = Object.keys(recipes) as readonly ToolName[];
