// Package wire is how a region of the simulated AWS is spoken to: over HTTP at one address,
// as AWS_ENDPOINT_URL leads there, in the protocols of the services that Karpenter uses.
//
// Which service a request is for stands in its signature, which isn't verified. EC2 and IAM
// speak forms and XML, Systems Manager, Pricing and SQS JSON, EKS REST. What isn't known is
// answered as AWS answers it, and counted in the [Journal].
//
// Each action is a request and an answer, two structs whose fields are the protocol's, and a
// function from the one to the other: no handler writes text. The formats are checked against
// AWS's own SDK by the tests of the module in ../sdktest.
package wire
