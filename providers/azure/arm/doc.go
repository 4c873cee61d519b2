// Package arm answers requests as Azure Resource Manager does: paths, resources, errors and
// long-running operations. It knows no resources of its own: a Server has a table of calls.
// Source: https://github.com/Azure/azure-resource-manager-rpc.
package arm
