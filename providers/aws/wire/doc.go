// Package wire serves a region of the simulated AWS over HTTP. All services that Karpenter
// uses share one address, for AWS_ENDPOINT_URL.
//
// A request's signature names its service. It is not verified. EC2 and IAM use forms and XML;
// Systems Manager, Pricing and SQS use JSON; EKS uses REST. An unknown call gets AWS's error
// and is counted in the [Journal].
//
// An action is a function from a request struct to an answer struct. Their fields are the
// protocol's, so no handler writes text. The module in ../sdktest tests the formats with
// AWS's own SDK.
package wire
