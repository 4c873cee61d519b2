package cloud

import (
	"fmt"
	"hash/fnv"
	"regexp"
	"slices"
	"strings"
	"time"
)

// Image is a machine image (AMI) for nodes.
type Image struct {
	ID, Name string
	Arch     string // x86_64 or arm64
	Created  time.Time
}

func (*Image) tags() map[string]string { return nil }

func (i *Image) attribute(name string) ([]string, bool) {
	switch name {
	case "image-id":
		return []string{i.ID}, true
	case "name":
		return []string{i.Name}, true
	case "architecture":
		return []string{i.Arch}, true
	case "state":
		return []string{"available"}, true
	case "owner-alias":
		return []string{"amazon"}, true
	}
	return nil, false
}

// release is a release of all images, by its day.
type release time.Time

func firstRelease() release { return release(time.Date(2026, time.June, 1, 0, 0, 0, 0, time.UTC)) }

// next returns the release a month later.
func (r release) next() release { return release(time.Time(r).AddDate(0, 1, 0)) }

func (r release) String() string { return time.Time(r).Format("v20060102") }

// parameter matches the paths under which EKS publishes the IDs of its images. A path holds
// the Kubernetes version, architecture, variant, and release or "recommended" (the newest).
// Source: https://docs.aws.amazon.com/eks/latest/userguide/retrieve-ami-id.html.
var parameter = regexp.MustCompile(
	`^/aws/service/eks/optimized-ami/(1\.\d+)/amazon-linux-2023/(x86_64|arm64)/(standard|nvidia|neuron)/` +
		`(recommended|amazon-eks-node-al2023-(?:x86_64|arm64)-(?:standard|nvidia|neuron)-1\.\d+-(v\d{8}))/image_id$`)

// Parameter returns the value of a parameter that AWS publishes: the ID of an image. Each
// Kubernetes version, architecture, variant and release has its own image.
func (c *Cloud) Parameter(name string) (string, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	parts := parameter.FindStringSubmatch(name)
	if parts == nil || parts[2] == "arm64" && parts[3] == "neuron" {
		return "", refuse("ParameterNotFound", "Parameter %s not found.", name)
	}
	at := len(c.releases) - 1
	if parts[4] != "recommended" {
		at = slices.IndexFunc(c.releases, func(r release) bool { return r.String() == parts[5] })
	}
	if at < 0 {
		return "", refuse("ParameterNotFound", "Parameter %s not found.", name)
	}
	i := image(parts[1], parts[2], parts[3], c.releases[at])
	c.images[i.ID] = i
	return i.ID, nil
}

// image returns the image of a release. Its ID depends only on the arguments.
func image(kubernetes, arch, variant string, r release) *Image {
	name := fmt.Sprintf("amazon-eks-node-al2023-%s-%s-%s-%s", arch, variant, kubernetes, r)
	h := fnv.New64a()
	_, _ = h.Write([]byte(name))
	return &Image{ID: fmt.Sprintf("ami-0%016x", h.Sum64()), Name: name, Arch: arch, Created: time.Time(r)}
}

// Images returns the images that match. Parameter must have returned their IDs before.
func (c *Cloud) Images(ids []string, filters []Filter) ([]Image, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	var all []*Image
	for _, i := range c.images {
		all = append(all, i)
	}
	slices.SortFunc(all, func(a, b *Image) int { return strings.Compare(a.Name, b.Name) })
	some, err := chosen(all, ids, func(i *Image) string { return i.ID }, func(id string) error {
		return refuse("InvalidAMIID.NotFound", "The image id '[%s]' does not exist", id)
	})
	if err != nil {
		return nil, err
	}
	return copies(applyFilters(some, filters))
}

// Release publishes a new release of all images.
func (c *Cloud) Release() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.releases = append(c.releases, c.releases[len(c.releases)-1].next())
}
