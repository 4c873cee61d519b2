package hostnode

import (
	"os"
	"os/exec"
	"strconv"
	"testing"
)

const (
	// actsAsHarness makes the test binary start a process and wait to be killed.
	actsAsHarness = "HOSTNODE_TEST_ACTS_AS_HARNESS"
	// programFolder is where the program that containers run is built, once for all tests.
	programFolder = "HOSTNODE_TEST_PROGRAM_FOLDER"
)

func TestMain(m *testing.M) {
	if os.Getenv(actsAsHarness) != "" {
		os.Exit(harness())
	}
	os.Exit(test(m))
}

func test(m *testing.M) int {
	dir, err := os.MkdirTemp("", "hostnode-test-*")
	if err != nil {
		panic(err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	if err := os.Setenv(programFolder, dir); err != nil {
		panic(err)
	}
	return m.Run()
}

func harness() int {
	p, err := newStarter(nil).start(&exec.Cmd{Path: "/bin/sleep", Args: []string{"sleep", "60"}, Env: []string{}}, 0)
	if err != nil {
		return 1
	}
	_, _ = os.Stdout.WriteString(strconv.Itoa(p.cmd.Process.Pid) + "\n")
	<-p.done
	return 0
}
