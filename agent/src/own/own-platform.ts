const architectures: Readonly<Record<string, string>> = { x64: 'amd64', ia32: '386' };

/** This machine as releases of tools and providers name it in their files, such as `linux_amd64`. */
export const ownPlatform = `${process.platform}_${architectures[process.arch] ?? process.arch}`;
