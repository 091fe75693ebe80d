/** The properties of a template that may name files of the repository: those that the command line of AWS packages. */

/**
 * Form of an uploaded file or folder. `code`: a zip, unless it is one. `bundle`: a zip of a folder, a file unchanged.
 * `file`: a file as it is. `template`: a file whose own properties are packaged, too.
 */
type Content = 'code' | 'bundle' | 'file' | 'template';

/** The names that a property has for a bucket, a key, and a version; null: no version. */
interface ObjectNames {
  readonly bucket: string;
  readonly key: string;
  readonly version: string | null;
}

export interface ArtifactProperty {
  readonly type: string;
  /** From the properties of the resource on; `*` matches every name. */
  readonly path: readonly string[];
  readonly content: Content;
  /** Form of the reference to an object: `https://…`, `s3://…`, or by names. */
  readonly reference: 'https' | 's3' | ObjectNames;
  /** A missing value is the folder of the template, unless one of these properties says where the code is. */
  readonly isFolderUnless?: readonly string[];
}

const s3Names = { bucket: 'S3Bucket', key: 'S3Key', version: 'S3ObjectVersion' } as const;
const names = { bucket: 'Bucket', key: 'Key', version: 'Version' } as const;

function property(
  type: string,
  path: string,
  content: Content,
  reference: ArtifactProperty['reference'],
  isFolderUnless?: readonly string[],
): ArtifactProperty {
  const more = isFolderUnless === undefined ? {} : { isFolderUnless };
  return { type, path: path.split('.'), content, reference, ...more };
}

export const artifactProperties: readonly ArtifactProperty[] = [
  property('AWS::ApiGateway::RestApi', 'BodyS3Location', 'file', names),
  property('AWS::ApiGatewayV2::Api', 'BodyS3Location', 'file', names),
  property('AWS::AppSync::FunctionConfiguration', 'CodeS3Location', 'file', 's3'),
  property('AWS::AppSync::FunctionConfiguration', 'RequestMappingTemplateS3Location', 'file', 's3'),
  property('AWS::AppSync::FunctionConfiguration', 'ResponseMappingTemplateS3Location', 'file', 's3'),
  property('AWS::AppSync::GraphQLSchema', 'DefinitionS3Location', 'file', 's3'),
  property('AWS::AppSync::Resolver', 'CodeS3Location', 'file', 's3'),
  property('AWS::AppSync::Resolver', 'RequestMappingTemplateS3Location', 'file', 's3'),
  property('AWS::AppSync::Resolver', 'ResponseMappingTemplateS3Location', 'file', 's3'),
  property('AWS::CloudFormation::ModuleVersion', 'ModulePackage', 'code', 's3'),
  property('AWS::CloudFormation::ResourceVersion', 'SchemaHandlerPackage', 'code', 's3'),
  property('AWS::CloudFormation::Stack', 'TemplateURL', 'template', 'https'),
  property('AWS::CodeCommit::Repository', 'Code.S3', 'code', { ...names, version: 'ObjectVersion' }),
  property('AWS::ElasticBeanstalk::ApplicationVersion', 'SourceBundle', 'bundle', {
    ...s3Names,
    version: null,
  }),
  property('AWS::Glue::Job', 'Command.ScriptLocation', 'bundle', 's3'),
  property('AWS::Lambda::Function', 'Code', 'code', s3Names, []),
  property('AWS::Lambda::LayerVersion', 'Content', 'code', s3Names, []),
  property('AWS::Serverless::Api', 'DefinitionUri', 'file', 's3'),
  property('AWS::Serverless::Application', 'Location', 'template', 'https'),
  property('AWS::Serverless::Function', 'CodeUri', 'code', 's3', ['InlineCode', 'ImageUri', 'PackageType']),
  property('AWS::Serverless::GraphQLApi', 'SchemaUri', 'file', 's3'),
  property('AWS::Serverless::GraphQLApi', 'Functions.*.CodeUri', 'file', 's3'),
  property('AWS::Serverless::GraphQLApi', 'Resolvers.*.*.CodeUri', 'file', 's3'),
  property('AWS::Serverless::HttpApi', 'DefinitionUri', 'file', 's3'),
  property('AWS::Serverless::LayerVersion', 'ContentUri', 'code', 's3', []),
  property('AWS::Serverless::StateMachine', 'DefinitionUri', 'file', names),
  property('AWS::StepFunctions::StateMachine', 'DefinitionS3Location', 'file', names),
];

/** Of the entry `AWS::ServerlessRepo::Application` of a template's metadata. */
export const metadataProperties: readonly ArtifactProperty[] = [
  property('AWS::ServerlessRepo::Application', 'LicenseUrl', 'file', 's3'),
  property('AWS::ServerlessRepo::Application', 'ReadmeUrl', 'file', 's3'),
];

/** Of the parameters of a transform. CloudFormation reads the file when it makes a change set. */
export const includeProperty = property('AWS::Include', 'Location', 'file', 's3');
