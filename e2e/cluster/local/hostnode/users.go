package hostnode

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/plumbline-e2e/plumbline/e2e/image"
)

// userOf returns the container's user: its or the pod's runAsUser, else the image's user.
func userOf(p *corev1.Pod, c *corev1.Container, l *loaded) (user, error) {
	u, err := imageUser(l)
	if err != nil {
		return user{}, err
	}
	var mustNotBeRoot bool
	if s := p.Spec.SecurityContext; s != nil {
		u.override(s.RunAsUser, s.RunAsGroup)
		mustNotBeRoot = isTrue(s.RunAsNonRoot)
	}
	if s := c.SecurityContext; s != nil {
		u.override(s.RunAsUser, s.RunAsGroup)
		if s.RunAsNonRoot != nil {
			mustNotBeRoot = *s.RunAsNonRoot
		}
	}
	if mustNotBeRoot && u.uid == 0 {
		return user{}, errors.New("container has runAsNonRoot and image will run as root")
	}
	return u, nil
}

func (u *user) override(uid, gid *int64) {
	if uid != nil {
		u.uid = *uid
	}
	if gid != nil {
		u.gid = *gid
	}
}

// imageUser reads the image's USER: a name or number, and optionally a group. The default
// group is that in the image's /etc/passwd, else 0.
func imageUser(l *loaded) (user, error) {
	name, group, _ := strings.Cut(l.config.User, ":")
	if name == "" || l.rootfs == "" {
		return user{}, nil
	}
	var u user
	entry := databaseLine(l, "etc/passwd", name)
	switch id, err := strconv.ParseInt(name, 10, 64); {
	case err == nil:
		u.uid = id
	case entry == nil:
		return user{}, fmt.Errorf("image %s runs as user %q, which its /etc/passwd does not have", l.name, name)
	}
	if len(entry) > 3 {
		u.uid, _ = strconv.ParseInt(entry[2], 10, 64)
		u.gid, _ = strconv.ParseInt(entry[3], 10, 64)
	}
	if group == "" {
		return u, nil
	}
	if id, err := strconv.ParseInt(group, 10, 64); err == nil {
		u.gid = id
		return u, nil
	}
	entry = databaseLine(l, "etc/group", group)
	if len(entry) < 3 {
		return user{}, fmt.Errorf("image %s runs as group %q, which its /etc/group does not have", l.name, group)
	}
	u.gid, _ = strconv.ParseInt(entry[2], 10, 64)
	return u, nil
}

// databaseLine returns the line of passwd(5) or group(5) with that name or number.
func databaseLine(l *loaded, file, key string) []string {
	root, err := os.OpenRoot(l.rootfs)
	if err != nil {
		return nil
	}
	defer func() { _ = root.Close() }()
	name, err := image.Resolve(root, file)
	if err != nil {
		return nil
	}
	data, err := fs.ReadFile(root.FS(), name)
	if err != nil {
		return nil
	}
	for line := range strings.Lines(string(data)) {
		if fields := strings.Split(strings.TrimSpace(line), ":"); len(fields) > 2 && (fields[0] == key || fields[2] == key) {
			return fields
		}
	}
	return nil
}
