// Command program is what runs in the pod of a backend's test: it says that it
// started, and stays until it is told to end.
package main

import (
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	fmt.Println("the program has started")
	told := make(chan os.Signal, 1)
	signal.Notify(told, syscall.SIGTERM)
	<-told
	fmt.Println("the program was told to end")
}
