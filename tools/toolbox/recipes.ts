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
}

export const recipes = {
  opentofu: {
    program: 'tofu',
    package: 'github.com/opentofu/opentofu/cmd/tofu',
    // Else it calls itself a development version.
    linkerFlags: ['-X', 'github.com/opentofu/opentofu/version.dev=no'],
  },
  'provider-time': {
    program: 'terraform-provider-time_v0.14.2',
    package: 'github.com/hashicorp/terraform-provider-time',
    linkerFlags: ['-X', 'main.version=0.14.2'],
  },
} as const satisfies Readonly<Record<string, Recipe>>;

export type ToolName = keyof typeof recipes;
export const toolNames = Object.keys(recipes) as readonly ToolName[];
