#!/bin/sh
# Nsight Compute for tests: runs the command, then says that each of four launches was a kernel that waits for memory.
while [ $# -gt 0 ]; do
  case $1 in
    --csv) shift ;;
    --*) shift 2 ;;
    *) break ;;
  esac
done
echo "==PROF== Connected to process 1 ($1)"
"$@"
status=$?
echo "==PROF== Disconnected from process 1"
echo '"ID","Process ID","Process Name","Host Name","Kernel Name","gpu__time_duration.sum","sm__cycles_active.avg","sm__cycles_elapsed.max","dram__bytes_read.sum","dram__bytes_write.sum","dram__bytes.sum.pct_of_peak_sustained_elapsed","smsp__issue_active.avg.pct_of_peak_sustained_active","smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio","smsp__average_warps_issue_stalled_lg_throttle_per_issue_active.ratio","smsp__average_warps_issue_stalled_wait_per_issue_active.ratio"'
echo '"","","","","","ns","cycle","cycle","byte","byte","%","%","inst","inst","inst"'
for id in 0 1 2 3; do echo "\"$id\",\"1\",\"x\",\"127.0.0.1\",\"k\",\"1,000,000\",\"990\",\"1,000\",\"4,000\",\"4,000\",\"10.00\",\"5.00\",\"90\",\"0\",\"10\""; done
exit $status
