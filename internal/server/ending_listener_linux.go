package server

import "golang.org/x/sys/unix"

// refuseNewConnections makes a listening socket drop the first packet (SYN) of new connections, but not the handshakes in progress. It
// reports whether it could. The client sends its SYN again a second later, and is refused then, because nobody listens any more.
func refuseNewConnections(listening int) bool {
	const flags, syn, ack, all = 13, 0x02, 0x10, 1<<16 - 1 // offset and bits of the flags in a TCP header; all: accept the whole packet
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
