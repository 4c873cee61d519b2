package hostnode

import (
	"context"
	"os"
	"os/exec"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

func dieWithParent(attr *syscall.SysProcAttr) { attr.Pdeathsig = syscall.SIGKILL }

// probeIsolation finds by trying what this machine allows: too many settings can forbid it.
func probeIsolation(ctx context.Context, s *starter) Isolation {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	harmless, err := exec.LookPath("true")
	if err != nil {
		return None
	}
	for _, way := range []Isolation{Chroot, UserNamespace} {
		if way == Chroot && os.Getuid() != 0 {
			continue
		}
		cmd := &exec.Cmd{Path: harmless, Args: []string{"true"}, Env: []string{}}
		confine(cmd, way, "/", user{})
		p, err := s.start(cmd, 0)
		if err != nil {
			continue
		}
		select {
		case <-p.done:
		case <-ctx.Done():
			p.stop(0)
		}
		if p.code == 0 {
			return way
		}
	}
	return None
}

// confine sets the command's root and user.
func confine(cmd *exec.Cmd, way Isolation, root string, u user) {
	switch way {
	case Chroot:
		cmd.SysProcAttr = &syscall.SysProcAttr{
			Chroot:     root,
			Credential: &syscall.Credential{Uid: uint32(u.uid), Gid: uint32(u.gid)},
		}
	case UserNamespace:
		cmd.SysProcAttr = &syscall.SysProcAttr{
			Chroot:      root,
			Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
			UidMappings: []syscall.SysProcIDMap{{ContainerID: int(u.uid), HostID: os.Getuid(), Size: 1}},
			GidMappings: []syscall.SysProcIDMap{{ContainerID: int(u.gid), HostID: os.Getgid(), Size: 1}},
		}
	}
}

// makeDevices creates the devices that programs expect (numbers: Linux's
// Documentation/admin-guide/devices.txt). Only root can, and not everywhere, so it ignores
// failures: a program that needs a device reports that itself.
func makeDevices(folder string) {
	for name, minor := range map[string]uint32{"null": 3, "zero": 5, "full": 7, "random": 8, "urandom": 9} {
		path := folder + "/" + name
		if unix.Mknod(path, unix.S_IFCHR|0o666, int(unix.Mkdev(1, minor))) == nil {
			_ = os.Chmod(path, 0o666) // despite the umask
		}
	}
}
