package server

import "golang.org/x/sys/unix"

// refuseNew makes a listening socket deaf to whoever begins to connect, but not to those who have begun, and reports whether it is. A
// client that is not heard asks again a second later, and is refused then, as nobody listens any more.
func refuseNew(listening int) bool {
	const flags, syn, ack, all = 13, 0x02, 0x10, 1<<16 - 1 // in a header of TCP: where its flags are
	filter := []unix.SockFilter{
		{Code: unix.BPF_LD | unix.BPF_B | unix.BPF_ABS, K: flags},
		{Code: unix.BPF_ALU | unix.BPF_AND | unix.BPF_K, K: syn | ack},
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: syn, Jf: 1},
		{Code: unix.BPF_RET | unix.BPF_K, K: 0},
		{Code: unix.BPF_RET | unix.BPF_K, K: all},
	}
	program := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	return unix.SetsockoptSockFprog(listening, unix.SOL_SOCKET, unix.SO_ATTACH_FILTER, &program) == nil
}
