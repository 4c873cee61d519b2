package kind

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"golang.org/x/mod/semver"
)

// nodeImages returns the images that were published for the linked release of kind, by digest
// as its notes ask: https://github.com/kubernetes-sigs/kind/releases/tag/v0.33.0.
func nodeImages() map[string]string {
	return map[string]string{
		"v1.36.4":  "kindest/node:v1.36.4@sha256:099e049362a1526b2db71494e1947aae99bd16290d7c895f2b7ea312e3cbfaed",
		"v1.35.8":  "kindest/node:v1.35.8@sha256:07b2536e30b803ed61d1677a79df6115f798ce64c80f9e22f6ed45afd09323c0",
		"v1.34.11": "kindest/node:v1.34.11@sha256:44e222ee2132dab25ff87301682f89eb82c7880ea3a1bf543bfe9708fd08d67d",
	}
}

// Kubernetes returns the version of the node image for "1.36", "v1.36" or the full version.
// The error for any other lists the known ones. A user's nodeImage may have any version: then
// it returns asked, and the API server must match that.
func Kubernetes(asked, nodeImage string) (version string, err error) {
	wanted := "v" + strings.TrimPrefix(asked, "v")
	if !semver.IsValid(wanted) || strings.Count(wanted, ".") == 0 {
		return "", fmt.Errorf("%q is no version of Kubernetes such as 1.36 or v1.36.4", asked)
	}
	if nodeImage != "" {
		return wanted, nil
	}
	known := slices.SortedFunc(maps.Keys(nodeImages()), func(a, b string) int { return semver.Compare(b, a) })
	for _, version := range known {
		if wanted == version || wanted == semver.MajorMinor(version) {
			return version, nil
		}
	}
	return "", fmt.Errorf("kind has no node image of Kubernetes %q here: there are %s; NODE_IMAGE names one of your "+
		"own, which `make node-image` can build",
		asked, strings.Join(known, ", "))
}

// matchesVersion reports whether a server's version is the one asked for, full or minor.
func matchesVersion(version, asked string) bool {
	return version == asked || strings.Count(asked, ".") == 1 && semver.MajorMinor(version) == asked
}
